package cli

import (
	"os"
	"syscall"
)

// maxResident returns the largest memory of a process, in bytes.
func maxResident(s *os.ProcessState) int64 {
	if usage, ok := s.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss << 10
	}
	return 0
}
