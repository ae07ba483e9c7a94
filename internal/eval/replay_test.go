package eval

import (
	"math"
	"testing"

	"github.com/unloop-ai/unloop"
)

func TestTheSumOfTokensSaturates(t *testing.T) {
	var s Usage
	s.add(&unloop.Event{Tokens: math.MaxInt64})
	s.add(&unloop.Event{Tokens: 1})
	if s.Tokens != math.MaxInt64 {
		t.Errorf("event by event: %d", s.Tokens)
	}
	if s.plus(s); s.Tokens != math.MaxInt64 {
		t.Errorf("run by run: %d", s.Tokens)
	}
}
