package cli

import "testing"

func TestCheckLasting(t *testing.T) {
	for _, c := range []struct {
		name, program string
		refused       bool
	}{
		{"an installed program is registered", "/usr/local/bin/unloop", false},
		{"the program of a package is registered", "/srv/app/node_modules/@unloop-ai/unloop-linux-x64/bin/unloop", false},
		{"the program of go run is refused", "/tmp/go-build2407/b001/exe/unloop", true},
		{"the cached program of go run is refused", "/var/cache/go-build/4f/4f0c-d/unloop", true},
		{"the program of npx without a package is refused", "/var/cache/_npx/8f2c/node_modules/@unloop-ai/unloop-linux-x64/bin/unloop", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := checkLasting(c.program); (err != nil) != c.refused {
				t.Errorf("checkLasting(%q) = %v", c.program, err)
			}
		})
	}
}
