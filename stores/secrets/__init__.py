"""Secrets: finding them in a text, replacing them by references, encrypting them, and loading the key.

``find_secrets`` → ``Cipher.encrypt`` each plaintext under its id → ``replace_secrets``: the stored text has
``{{vault:ID|caption}}`` in place of each secret. The vault's tables and the audit of ``reveal`` are the ledger's.
"""

from hexamem.stores.secrets.captions import caption_is_safe
from hexamem.stores.secrets.cipher import Cipher, key_id_of, seal, unseal
from hexamem.stores.secrets.detection import find_all_secrets, find_secrets, replace_secrets
from hexamem.stores.secrets.keys import KEY_FILE_NAME, KEY_VARIABLE, VaultKey, load_key, new_key
from hexamem.stores.secrets.references import (
    VaultReference,
    clean_caption,
    find_references,
    format_references,
    named_ids,
    reference,
    replaced_texts,
    restore_references,
    with_captions,
)
from hexamem.stores.secrets.spans import SecretSpan, Sensitivity

__all__ = [
    "KEY_FILE_NAME",
    "KEY_VARIABLE",
    "Cipher",
    "SecretSpan",
    "Sensitivity",
    "VaultKey",
    "VaultReference",
    "caption_is_safe",
    "clean_caption",
    "find_all_secrets",
    "find_references",
    "find_secrets",
    "format_references",
    "key_id_of",
    "load_key",
    "named_ids",
    "new_key",
    "reference",
    "replace_secrets",
    "replaced_texts",
    "restore_references",
    "seal",
    "unseal",
    "with_captions",
]
