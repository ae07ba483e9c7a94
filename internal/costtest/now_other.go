//go:build !linux

package costtest

import "time"

var start = time.Now()

// now returns the time since the program began.
func now() time.Duration { return time.Since(start) }
