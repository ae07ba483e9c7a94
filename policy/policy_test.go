package policy

import "testing"

func TestAnActionIsReadFromItsName(t *testing.T) {
	for _, want := range []Action{Allow, Warn, Block, Halt} {
		name, err := want.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		got := Halt - want // another one, or the zero value
		if err := got.UnmarshalText(name); err != nil || got != want {
			t.Errorf("%s is read as %s, error %v", name, got, err)
		}
	}
	action := Block
	if err := action.UnmarshalText([]byte("Halt")); err == nil || action != Block {
		t.Errorf("an unknown name is read as %s", action)
	}
}

func TestEachScoreHasOneGrade(t *testing.T) {
	for score := range 101 {
		if low, high := GradeOf(score).Scores(); score < low || score > high {
			t.Errorf("%d is %s, whose scores are %d to %d", score, GradeOf(score), low, high)
		}
	}
}
