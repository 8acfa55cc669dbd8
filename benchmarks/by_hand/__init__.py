"""Five operators of five kinds beside loops that a person wrote for one of them each (`loops.cpp`)."""
