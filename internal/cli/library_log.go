package cli

import (
	"bytes"
	"io"
)

// libraryLog is the output of the logger of the standard library, which only libraries use. Package net/http quotes there what a server
// sends after its answer. Such text can be a prompt or a key, so libraryLog leaves it out.
type libraryLog struct{ w io.Writer }

// Write implements io.Writer. It never returns fewer bytes than it got without an error.
func (l libraryLog) Write(line []byte) (int, error) {
	if message, _, quotes := bytes.Cut(line, []byte(" starting with ")); quotes {
		_, err := l.w.Write(append(bytes.Clone(message), '\n'))
		return len(line), err
	}
	return l.w.Write(line)
}
