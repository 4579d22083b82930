"""Made-up trajectories of several interleaved goals, with gold labels and questions, for measuring at any length.

A plan first (:mod:`.plan`): goals that are left and entered again, revised values, references whose antecedents are
known. Then words (:mod:`.render`) out of sentence templates of which ``dev`` and ``test`` share none. What is built
may be looked at with ``dev``; figures are reported on ``test``.
"""

from hexamem.evals.synthetic.family import FAMILIES, SPLITS, FamilyName, Split
from hexamem.evals.synthetic.generate import SIZES, make_conversation, make_conversations
from hexamem.evals.synthetic.plan import Plan, Size, make_plan
from hexamem.evals.synthetic.questions import QUESTION_TYPES, plan_questions

__all__ = [
    "FAMILIES",
    "QUESTION_TYPES",
    "SIZES",
    "SPLITS",
    "FamilyName",
    "Plan",
    "Size",
    "Split",
    "make_conversation",
    "make_conversations",
    "make_plan",
    "plan_questions",
]
