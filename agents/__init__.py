"""Agents, one file each: meta-manager, memory managers, labeler, memorizer, planner, integrator, reflector, chat."""
