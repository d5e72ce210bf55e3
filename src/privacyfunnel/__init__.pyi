from . import datasets as datasets
from . import errors as errors
from . import information as information
from . import limits as limits
from . import metrics as metrics
from . import plots as plots
from . import submodular as submodular
from . import tables as tables
from .audits import Audit as Audit
from .audits import Trials as Trials
from .audits import audit as audit
from .codebook import Codebook as Codebook
from .codes import Channel as Channel
from .codes import Partition as Partition
from .columns import ColumnRules as ColumnRules
from .estimators import InformationBottleneck as InformationBottleneck
from .estimators import PrivacyFunnel as PrivacyFunnel
from .frontiers import Frontier as Frontier
from .frontiers.sweep import frontier as frontier
from .joint import Joint as Joint
from .objectives import Bottleneck as Bottleneck
from .objectives import Funnel as Funnel
from .solvers import Solution as Solution
from .solvers import Status as Status
from .solvers import solve as solve
from .solvers.soft.perfect_privacy import perfect_privacy as perfect_privacy

__version__: str
