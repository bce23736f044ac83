"""Sign-in and sign-out, the throttle of attempts, and re-authentication."""
