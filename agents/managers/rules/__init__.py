"""What managers of the rules tier find without a model, one idea a file; ``reading`` puts it together."""
