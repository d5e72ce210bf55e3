"""Soft codes: channels p(x̂ given x), for the funnel, the bottleneck and bounds on distortion."""
