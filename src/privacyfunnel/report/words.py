"""Words: a release's document as plain sentences, each figure with the direction that is safe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privacyfunnel.codebook.output import ANY
from privacyfunnel.errors import HINTS, Hints, with_cure
from privacyfunnel.report import audit_words, holdout_words
from privacyfunnel.report.attacker_words import attackers, who_knows_all_others
from privacyfunnel.report.numbers import bits, listed, number, one_in, percent, several

Document = Mapping[str, Any]
GOALS = {  # by the target
    "kept": "Keep at least {share} of {public}, column by column, and give away as little as possible "
    "about {sensitive}.",
    "utility": "Keep at least {share} of the information in {public} and give away as little as "
    "possible about {sensitive}.",
    "leakage": "Give away at most {share} of the information in {sensitive} and keep as much as "
    "possible of {public}.",
    "lam": "Publish {public}; a bit kept of them is worth {given:g} of a bit given away about "
    "{sensitive}.",
    "by hand": "Publish {public} in groups made by hand; tell what that gives away about {sensitive}.",
    "": "Publish {public} while giving away little about {sensitive}.",
}


def names(document: Document, role: str) -> str:
    """The columns of a role in a row of words."""
    return listed([column["name"] for column in document["asked"][role]])


def leaving_aside(document: Document) -> str:
    """That a least count is of what was released, not of the columns that were kept beside it."""
    kept = document["asked"]["keep"]
    return f", leaving {listed(kept)} aside" if kept else ""


def what_was_asked(document: Document) -> str:
    """The target in one sentence."""
    if document.get("asked_for"):
        goal = _asked_for_goal(document)
    else:
        # A public report does not tell a leakage that was asked for.
        is_by_hand = document["recoding"] is not None and not document["is_public"]
        none = "by hand" if is_by_hand else ""
        [(kind, given)] = document["asked"]["target"].items() or [(none, 0.0)]
        roles = {role: names(document, role) for role in ("public", "sensitive")}
        goal = GOALS[kind].format(share=percent(given), given=given, **roles)
    least, share = document["asked"]["min_count"], document["asked"]["choose_on"]
    if least > 1:
        what = "symbol" if document["recoding"] is None else "combination"
        whom = f"{_whom(document)}s{leaving_aside(document)}"
        goal += f" Every {what} stands for at least {number(least)} {whom}."
    different = document["asked"].get("min_diversity", 1)  # a public report does not tell
    if different > 1:
        goal += f" It goes with at least {different} different values of each sensitive column."
    if share is not None:
        goal += f" The code was chosen on {percent(share)} of the records, drawn in secret."
    return goal


def _asked_for_goal(document: Document) -> str:
    """The target of a release that was searched by another measure, for a use, or within caps."""
    asked, target = document["asked_for"], document["asked"]["target"]
    sensitive, public = names(document, "sensitive"), names(document, "public")
    what = {"x": public, "useful": f"what {public} say about {listed(asked['useful'])}"}
    kept = what.get(asked["purpose"], f"{public}, and {what['useful']}")
    if asked["caps"]:
        caps = [f"{percent(c['most'])} of {c['column']} by {c['measure']}" for c in asked["caps"]]
        goal = f"Give away at most {listed(caps)} and keep as much as possible of {kept}."
        if "utility" in target:
            goal += f" At least {percent(target['utility'])} of it had to be kept."
        return goal
    by_other = asked["measure"] != "shannon"
    told = f" of {sensitive}, by {asked['title']}" if by_other else f" about {sensitive}"
    if "leakage" in target:
        most = percent(target["leakage"])
        return f"Give away at most {most}{told}, and keep as much as possible of {kept}."
    least = target.get("utility", target.get("kept"))
    if least is not None:
        return (
            f"Keep at least {percent(least)} of {kept} and give away as little as possible{told}."
        )
    return f"Publish {public}; keep {kept} and give away little{told}."


def asked_for(document: Document) -> list[str]:
    """What the release keeps and gives away by what it was searched by, in sentences."""
    asked = document["asked_for"]
    lines = []
    if asked["purpose"] != "x":
        of = "the columns and of what they" if asked["purpose"] == "both" else "what the columns"
        share = f"{percent(asked['kept'])} of {of} say about {listed(asked['useful'])}"
        lines.append(f"Kept for its use: {share}.")
    if asked["measure"] != "shannon":
        limit = (
            f"no release that keeps as much reads below {percent(asked['limit'])} of all there is"
            if asked["limit"] is not None
            else "no limit is proved for this measure"
        )
        lines.append(f"By {asked['title']}: {asked['sentence']}; {limit}.")
    for cap in asked["caps"]:
        lines.append(
            f"Cap of {cap['column']}: {percent(cap['told'])} of at most {percent(cap['most'])} by "
            f"{cap['measure']}; {cap['sentence']}."
        )
    return lines


def what_is_released(document: Document) -> str:
    """How many records, and what became of the values."""
    release, released = document["release"], document["records"]["released"]
    if document["recoding"] is not None:
        return f"{several(released, 'record')}. {_recoded(document['recoding'])}"
    by_lot = "" if release["code"] == "partition" else ", drawn by lot"
    one = release["public_values"] == 1
    return (
        f"{several(released, 'record')}. The {several(release['public_values'], 'different value')} "
        f"of {names(document, 'public')} {'is' if one else 'are'} replaced by "
        f"{several(release['symbols'], 'symbol')}{by_lot}."
    )


def _recoded(recoding: Mapping[str, Any]) -> str:
    """What became of each column of a readable release."""
    labels = {c["name"]: [group["label"] for group in c["groups"]] for c in recoding["columns"]}
    columns = [f"{name} in {in_groups(of, recoding['kind'])}" for name, of in labels.items()]
    each = {
        "global": "Every column stays a column, with the same groups for all records",
        "local": "Every column stays a column, and each record is made as coarse as it needs to be",
    }[recoding["kind"]]
    text = f"{each}: {listed(columns)}."
    if recoding["suppressed"]:
        text += f" {percent(recoding['suppressed'])} of the records are * in all columns."
    return text


def in_groups(labels: Sequence[str], kind: str) -> str:
    """How many groups a column is in; ``*`` of suppressed records is none of them.

    >>> in_groups(["a", "b", "*"], "global"), in_groups(["a", "b", "*"], "local")
    ('2 groups and *', '3 groups')
    """
    if kind == "global" and ANY in labels and len(labels) > 1:
        return f"{several(len(labels) - 1, 'group')} and {ANY}"
    return several(len(labels), "group")


def kept(document: Document) -> str:
    """How much of the columns a readable release keeps."""
    recoding = document["recoding"]
    columns = [f"{percent(c['kept'])} of {c['name']}" for c in recoding["columns"]]
    mean = mean_over_columns(recoding)
    return f"{percent(recoding['kept'])} of the columns' values is kept {mean}: {listed(columns)}."


def mean_over_columns(recoding: Mapping[str, Any]) -> str:
    """What the share that is kept is a mean over.

    >>> mean_over_columns({"importance": {"age": 2.0}})
    'on average over the columns, by their importance'
    """
    by = ", by their importance" if recoding["importance"] else ""
    return f"on average over the columns{by}"


def utility(document: Document) -> str:
    """How much of X is kept."""
    m = document["measured"]
    return (
        f"Before: {bits(m['entropy_x_bits'])} of information in {names(document, 'public')}. "
        f"After: {bits(m['utility_bits'])}, which is {percent(m['utility'])} of it."
    )


def by_chance(document: Document) -> str:
    """What a random grouping of the same sizes keeps, beside what the release keeps."""
    m, columns = document["measured"], document["columns"]
    text = (
        f"A random grouping of the values into as many symbols of the same sizes would keep "
        f"{percent(m['utility_by_chance'])} of the whole"
    )
    if not columns:
        return f"{text}."
    of = [f"{percent(c['by_chance'])} of {c['name']} (here {percent(c['kept'])})" for c in columns]
    return f"{text}; from all of it together one could read off {listed(of)}."


def leakage(document: Document) -> str:
    """How much of S is given away, as it is and released."""
    m, stakes = document["measured"], document["stakes"]
    return (
        f"Before: published as they are, {names(document, 'public')} would give away "
        f"{bits(stakes['information_bits'])} about {names(document, 'sensitive')}, "
        f"{percent(stakes['given_away'])} of the {bits(m['entropy_s_bits'])} there are. "
        f"After: {bits(m['leakage_bits'])}, which is {percent(m['leakage'])}{_with_kept(document)}."
    )


def _with_kept(document: Document) -> str:
    """That columns which are passed through are part of it, and what it would be without them."""
    keep = document["release"]["kept_measured"]
    if not keep:
        return ""
    without = percent(document["measured"]["leakage_without_kept"])
    return f", the column{'s' if len(keep) > 1 else ''} {listed(keep)} included ({without} without)"


def new_people(document: Document) -> str:
    """What is given away of people who are not in the table, or why that is not known."""
    found, held = audit_words.of(document["audit"], "population_leakage"), document["held_out"]
    if found["value"] is not None:
        return (
            f"Of people like them who are not in the table, the rule gives away at most "
            f"{percent(found['value'])}, with 95% confidence: the records that did not choose it show so."
        )
    if held is not None and held["unseen"]["bound"] is not None:
        return (
            f"Of people like them who are not in the table, a rule made in the same way from "
            f"{several(held['own']['n_records'], 'record')} gives away at most "
            f"{percent(held['unseen']['bound']['leakage'])}, with 95% confidence: the records held out "
            "show so."
        )
    return f"What the rule gives away of people who are not in the table is not known: {found['note']}."


def guessing(document: Document) -> str:
    """How often a guess of S is right."""
    g = document["guessing"]
    return (
        f"Someone who guesses {names(document, 'sensitive')} of one record is right with "
        f"probability {one_in(g['blind'])}, without the data. Before: seeing the columns as they "
        f"are, {one_in(g['as_it_is'])}. After: seeing what is released, and knowing how often it goes "
        f"with what, {one_in(g['released'])}."
    )


def all_others(document: Document) -> list[str]:
    """What one learns who knows every other record."""
    informed = audit_words.of(document["audit"], "guess_informed")["value"]
    blind = document["guessing"]["blind"]
    return who_knows_all_others(informed, blind, names(document, "sensitive"), _whom(document))


def _whom(document: Document) -> str:
    return audit_words.whom(document["records"].get("persons"))


def drawn(document: Document) -> str:
    """Why the one file of a random release shows other figures than the rule that made it."""
    m, d = document["measured"], document["drawn"]
    sensitive = names(document, "sensitive")
    text = (
        "Each record's symbol was drawn by lot. The figures of this report are those of the rule "
        f"by which it was drawn: on average over all draws it gives away {percent(m['leakage'])} "
        f"({bits(m['leakage_bits'])}) about {sensitive}. In this one file, "
        f"{several(document['records']['released'], 'record')} long, symbols and {sensitive} seem "
        f"to share {percent(d['leakage'])} ({bits(d['leakage_bits'])})."
    )
    if d["chance"] is not None:
        text += (
            f" Chance alone would show {bits(d['chance']['mean_bits'])}: that much is there with "
            f"{sensitive} shuffled among the records."
        )
    return text + (
        " The fewer records there are for each symbol, the more of them meet by accident, which "
        "looks like a link and is none; with more records the two figures come together."
    )


def caution(found: Mapping[str, Any], hints: Hints = HINTS) -> str:
    """A caution and what to do about it, in the words of one table of hints."""
    return with_cure(found["text"], found["hint"], found["fields"], hints)


def limit(document: Document) -> str:
    """How far the release is from what no release can beat."""
    m = document["measured"]
    if m["proved_optimal"]:
        return (
            f"Proved optimal: no release that keeps {percent(m['utility'])} can give away less "
            f"than {percent(m['limit'])}, and this one does not give away more."
        )
    if m["limit_bits"] == 0:
        return (
            f"The known limit does not exclude that a release keeps {percent(m['utility'])} and "
            f"gives away nothing; this one, the best found, gives away {percent(m['leakage'])}."
        )
    return (
        f"No release that keeps {percent(m['utility'])} can give away less than "
        f"{percent(m['limit'])}; this one is {percent(m['gap'])} of the sensitive information "
        "above that limit."
    )


def summary(document: Document) -> list[str]:
    """The release in a few lines for the terminal."""
    m, g, stakes = document["measured"], document["guessing"], document["stakes"]
    release, recoding = document["release"], document["recoding"]
    values, symbols = release["public_values"], release["symbols"]
    became = f"{several(values, 'value')} became {several(symbols, 'symbol')}."
    if recoding is not None:
        became = _recoded(recoding)
        became = became[0].lower() + became[1:]
    return [
        f"Released {several(document['records']['released'], 'record')}: {became}",
        *([] if recoding is None else [kept(document)]),
        f"Kept: {percent(m['utility'])} of the information in {names(document, 'public')} "
        f"({bits(m['utility_bits'])} of {number(round(m['entropy_x_bits'], 2))}).",
        f"Given away: {percent(m['leakage'])} of {names(document, 'sensitive')} "
        f"({bits(m['leakage_bits'])} of {number(round(m['entropy_s_bits'], 2))})"
        f"{_with_kept(document)}; "
        f"published as they are it would be {percent(stakes['given_away'])}.",
        new_people(document),
        f"A guess of {names(document, 'sensitive')} is right in {percent(g['released'])} of cases; "
        f"{percent(g['blind'])} without the release, {percent(g['as_it_is'])} with all of it.",
        *(asked_for(document) if document.get("asked_for") else []),
        *([] if recoding or document.get("asked_for") else [limit(document)]),
        by_chance(document),
        *([] if document["drawn"] is None else [drawn(document)]),
        *_smallest(document),
        *all_others(document),
        *([] if document["asked"]["attackers"] is False else attackers(document["audit"])),
        *([] if document["held_out"] is None else [holdout_words.in_short(document)]),
    ]


def _smallest(document: Document) -> list[str]:
    """How few records share a symbol, where records are counted."""
    k, unique = (audit_words.of(document["audit"], key)["value"] for key in ("k", "unique"))
    if k is None:
        return []
    whom = _whom(document)
    alone = f"; {percent(unique)} of the {whom}s are alone with theirs" if unique else ""
    what = "combination of groups" if document["recoding"] else "symbol"
    kept = document["asked"]["keep"]
    beside = f", with {listed(kept)} beside it," if kept else ""
    found = [f"The rarest {what}{beside} is shared by {several(k, whom)}{alone}."]
    by_person = audit_words.by_person(document["audit"], names(document, "sensitive"))
    return [*found, *by_person] if whom == "person" else found
