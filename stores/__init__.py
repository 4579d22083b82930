"""Where memory is kept: the ledger (truth), the vector and lexical indexes (projections), secrets, media."""
