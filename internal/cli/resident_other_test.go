//go:build !linux

package cli

import "os"

// maxResident is known on Linux only.
func maxResident(*os.ProcessState) int64 { return 0 }
