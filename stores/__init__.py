"""Where memory is stored: the ledger (truth), the vector and lexical indexes (projections), secrets, media."""
