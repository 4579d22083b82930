"""Train the scope tracker on the corpus's trajectories with gold scopes, or measure it on trajectories left out.

    python scripts/train_scopes.py            writes intent/weights/scopes_bundled.npz, in about a minute
    python scripts/train_scopes.py --folds    AMI of each trajectory by weights that have not seen it
    python scripts/train_scopes.py --measure heldout_turns.jsonl …    AMI by the weights that ship

With --embedder static the weights are those for the static model's vectors.

Each decision is trained after a history of gold scopes; training on the tracker's own histories was tried and is worse
(mean AMI 0.53 against 0.57). Decisions for another scope than the current one weigh more: a change that is missed
costs more than one too many. Needs torch.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
import torch
from sklearn.metrics import adjusted_mutual_info_score
from trajectory_training import run

from hexamem.evals.trajectories import Trajectory
from hexamem.intent.scope_tracker import (
    AHEAD,
    COLUMNS,
    FEATURES,
    Candidates,
    ScopeTracker,
    ScopeWeights,
    load_scope_weights,
)
from hexamem.stores.embedders import Embedder

EPOCHS, NETWORKS, HIDDEN, SEED = 25, 4, 24, 13
TURN_WEIGHT = 1.7
SCALES = (1, 2, 3, 4, 6, 8, 12, 16)

CURRENT = FEATURES.index("current")
Example = tuple[Candidates, int]


def decisions(trajectory: Trajectory) -> list[Example]:
    """Each step's candidates after the steps before it are in their gold scopes, and the right one of them."""
    tracker = ScopeTracker()
    examples: list[Example] = []
    for place, (step, gold) in enumerate(zip(trajectory.steps, trajectory.scopes, strict=True)):
        candidates = tracker.candidates(step, trajectory.steps[place + 1 : place + 1 + AHEAD])
        if candidates.ids:
            target = candidates.ids.index(gold) if gold in candidates.ids else len(candidates.ids)
            examples.append((candidates, target))
        tracker.place(step, gold)
    return examples


def follow(trajectory: Trajectory, weights: ScopeWeights) -> list[str]:
    """The scopes that the tracker assigns to the steps when all are settled."""
    tracker = ScopeTracker(weights)
    decided = tracker.follow(trajectory.steps, lambda step: step.id)
    return [decision.scope_id for decision in decided]


def fit(examples: Sequence[Example], seed: int) -> ScopeWeights:
    """Networks whose softmax over the candidates puts the most weight on the right one, put together into one."""
    rows = np.concatenate([candidates.rows for candidates, _ in examples])
    mean, scale = rows.mean(0), np.maximum(rows.std(0), 1e-3)
    most = max(len(candidates.rows) for candidates, _ in examples)
    padded = np.zeros((len(examples), most, COLUMNS), np.float32)
    there = np.zeros((len(examples), most), bool)
    for place, (candidates, _) in enumerate(examples):
        padded[place, : len(candidates.rows)] = (candidates.rows - mean) / scale
        there[place, : len(candidates.rows)] = True
    inputs, mask = torch.from_numpy(padded), torch.from_numpy(there)
    targets = torch.tensor([target for _, target in examples])
    stays = [candidates.rows[target, CURRENT] > 0 for candidates, target in examples]
    costs = torch.tensor([1.0 if stay else TURN_WEIGHT for stay in stays])
    parts = [fit_one(inputs, mask, targets, costs, 100 * seed + number) for number in range(NETWORKS)]
    return ScopeWeights(
        mean=mean.astype(np.float32),
        scale=scale.astype(np.float32),
        hidden=np.concatenate([part[0].weight.detach().numpy().T for part in parts], axis=1),
        hidden_bias=np.concatenate([part[0].bias.detach().numpy() for part in parts]),
        output=np.concatenate([part[2].weight.detach().numpy()[0] for part in parts]) / NETWORKS,
    )


def fit_one(
    inputs: torch.Tensor, mask: torch.Tensor, targets: torch.Tensor, costs: torch.Tensor, seed: int
) -> torch.nn.Sequential:
    torch.manual_seed(seed)
    network = torch.nn.Sequential(
        torch.nn.Linear(COLUMNS, HIDDEN),
        torch.nn.Tanh(),
        torch.nn.Linear(HIDDEN, 1, bias=False),
    )
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-3, weight_decay=0.03)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(targets)).split(128):
            scores = network(inputs[part]).squeeze(-1).masked_fill(~mask[part], -1e9)
            losses = torch.nn.functional.cross_entropy(scores, targets[part], reduction="none")
            loss = (losses * costs[part]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    return network.eval()


def question_scale(trajectories: Sequence[Trajectory], weights: ScopeWeights) -> float:
    """The factor under which the likeness of questions to scopes best predicts the scope of their evidence."""
    likenesses: list[tuple[np.ndarray, int]] = []
    for trajectory in trajectories:
        tracker = ScopeTracker(weights)
        for step, scope in zip(trajectory.steps, trajectory.scopes, strict=True):
            tracker.place(step, scope)
        for question in trajectory.questions:
            near = tracker.similar(question.vector, question.text)
            if len(question.scopes) == 1:
                likenesses.append((np.array(list(near.values())), list(near).index(question.scopes[0])))
    right = np.mean([values.argmax() == target for values, target in likenesses])
    print(f"{len(likenesses)} questions about one scope, which is the likest of {right:.0%}")

    def loss(scale: float) -> float:
        return float(np.mean([np.log(np.exp(scale * (v - v[target])).sum()) for v, target in likenesses]))

    return min(SCALES, key=loss)


def train(trajectories: Sequence[Trajectory], embedder: Embedder) -> ScopeWeights:
    examples = [example for trajectory in trajectories for example in decisions(trajectory)]
    print(f"{len(trajectories)} trajectories, {len(examples):,} decisions")
    weights = fit(examples, SEED)
    return replace(weights, question_scale=question_scale(trajectories, weights), encoder=embedder.fingerprint)


def measure(trajectories: Sequence[Trajectory], weights: ScopeWeights) -> list[float]:
    """AMI of the tracker's scopes with the gold ones."""
    scores = []
    for trajectory in trajectories:
        scopes = follow(trajectory, weights)
        scores.append(float(adjusted_mutual_info_score(trajectory.scopes, scopes)))
        count = len(set(scopes))
        print(f"  {trajectory.name:28} AMI {scores[-1]:.3f}, {count} scopes for {len(set(trajectory.scopes))}")
    return scores


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(__doc__, "scopes", train, measure, load_scope_weights, ScopeWeights.__slots__)
