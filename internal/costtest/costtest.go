// Package costtest measures what code costs, for tests that hold a cost to a bound.
package costtest

import (
	"runtime"
	"time"
)

// ThreadTime returns the processor time that do takes on its thread. On Linux, time in which other programs and goroutines run does
// not count, so a busy machine gives about the same figure as a quiet one. Elsewhere it is the time that passes. Goroutines that do
// starts are not measured.
func ThreadTime(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := now()
	do()
	return now() - begun
}
