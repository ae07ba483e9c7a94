package cli

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/proxy"
)

func TestTheLimitsOfABudgetAreReadFromAFlag(t *testing.T) {
	for text, want := range map[string]proxy.Budget{
		"cost=20":                            {Cost: 20},
		"tokens=5000000,calls=1000":          {Tokens: 5_000_000, Calls: 1000},
		"time=12h,cost=0.5,tokens=1,calls=2": {Time: 12 * time.Hour, Cost: 0.5, Tokens: 1, Calls: 2},
		"":                                   {}, "cost": {}, "cost=-1": {}, "cost=NaN": {}, "cost=1,speed=2": {}, "tokens=1.5": {}, "time=5": {},
	} {
		var got proxy.Budget
		err := (&budgetValue{&got}).Set(text)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) == (want == proxy.Budget{}) {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}
