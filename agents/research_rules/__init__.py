"""The planner, integrator and reflector by rules, and how they read a question."""
