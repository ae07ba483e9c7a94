package costtest

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// now returns the processor time that this thread has taken.
func now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(fmt.Sprintf("read the clock of a thread: %v", err)) // Linux always has one
	}
	return time.Duration(ts.Nano())
}
