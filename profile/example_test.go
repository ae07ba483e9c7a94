package profile_test

import (
	"fmt"

	"github.com/unloop-ai/unloop/profile"
)

// A profile's settings come from a YAML document, and single ones from NAME=VALUE, which take precedence.
func ExampleLoad() {
	p, err := profile.Load(profile.Source{
		Config: []byte("profile: agentium\nmax_repeats: 5\nignore: [heartbeat]\n"),
		Sets:   []string{"action=abort"},
	})
	if err != nil {
		panic(err)
	}
	for _, s := range p.List()[:3] {
		fmt.Println(s.Name, s.Value)
	}
	_, err = profile.Load(profile.Source{Name: "agentium", Sets: []string{"max_repeats=0"}})
	fmt.Println(err)
	// Output:
	// max_repeats 5
	// action abort
	// ignore [heartbeat]
	// max_repeats is 0; it must be from 1 to 1000000
}
