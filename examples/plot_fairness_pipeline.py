"""
A pipeline that sees less of a protected attribute
==================================================

442 diabetes patients (the table that comes with scikit-learn): does the disease progress faster than
in half of the patients? A model may use body mass index, blood pressure and HDL cholesterol. None of
them is the patient's sex, but together they tell it quite well. ``PrivacyFunnel`` stands in front of
the model and releases the three columns in groups that keep a share of what they say and give away as
little as it can of the sex; it never sees what the model is to predict.

Everything is measured on patients that were held out of the fit, fold by fold: how well the model
ranks the progress, how well somebody else guesses the sex from what is released, and how much more
often the model says "fast" to one sex than to the other.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from privacyfunnel import PrivacyFunnel

patients = load_diabetes(as_frame=True, scaled=False)
public = patients.data[["bmi", "bp", "s3"]].rename(columns={"s3": "hdl"})
sex = (patients.data["sex"] == 2).to_numpy()
fast = (patients.target > patients.target.median()).to_numpy()

# %%
# The pipeline. Three columns of four bins each are at most 64 different rows; the sex goes to the
# funnel alone, the progress to the model alone.


def pipeline(utility: float) -> Pipeline:
    """The funnel, its groups as indicators, and a plain model."""
    return Pipeline(
        [
            ("funnel", PrivacyFunnel(utility=utility, bins=4)),
            ("indicators", OneHotEncoder(handle_unknown="ignore")),
            ("model", LogisticRegression()),
        ]
    )


def held_out(utility: float) -> tuple[float, float, float]:
    """AUC for the progress, AUC for the sex, and the gap between the sexes, over five folds."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    progress, guess = np.zeros(len(fast)), np.zeros(len(fast))
    for fitted, held in folds.split(public, 2 * sex + fast):
        pipe = pipeline(utility)
        pipe.fit(public.iloc[fitted], fast[fitted], funnel__sensitive_features=sex[fitted])
        progress[held] = pipe.predict_proba(public.iloc[held])[:, 1]
        seen = pipe[:-1].transform(public.iloc[fitted])
        attacker = clone(pipe["model"]).fit(seen, sex[fitted])
        guess[held] = attacker.predict_proba(pipe[:-1].transform(public.iloc[held]))[:, 1]
    says_fast = progress > 0.5
    gap = says_fast[sex].mean() - says_fast[~sex].mean()
    return roc_auc_score(fast, progress), roc_auc_score(sex, guess), abs(gap)


utilities = [0.3, 0.6, 0.8, 0.9, 1.0]
results = np.array([held_out(utility) for utility in utilities])
print("kept   AUC progress   AUC sex   gap between the sexes")
for utility, (progress, guess, gap) in zip(utilities, results, strict=True):
    print(f"{utility:4.2f}   {progress:12.3f}   {guess:7.3f}   {gap:21.3f}")

# %%
# The right end is the three columns as they are, binned. To the left the sex soon cannot be guessed any
# more and the gap closes, at a price: the model ranks worse too, because the funnel chooses what to keep
# without knowing the model's task, and what tells the sex here also tells the progress.

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.plot(utilities, results[:, 0], "o-", color="#1f5fa8", label="progress ranked by the model")
axes.plot(utilities, results[:, 1], "s-", color="#b23a48", label="sex ranked by a guesser")
axes.plot(utilities, 0.5 + results[:, 2], ":", color="0.4", label="0.5 + gap between the sexes")
axes.axhline(0.5, color="0.7", lw=0.8)
axes.set_xlabel("share of the public columns kept  I(X;X̂)/H(X)")
axes.set_ylabel("area under the ROC curve, held out")
axes.set_title("What a release tells of the task and of the sex")
axes.legend(frameon=False)
plt.show()
