package scan

import (
	"fmt"
	"slices"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// maxUnknown is the maximum number of unknown names that a reading of files reports.
const maxUnknown = 16

// unknownNames counts the unknown names in files.
type unknownNames struct {
	names []unknownName // each kind and name once
	more  bool          // there are further names
}

// unknownName is an unknown name, with its first place and its number.
type unknownName struct {
	ingest.Unknown
	file        string
	line, count int
}

// add counts a name, and returns it with its number.
func (u *unknownNames) add(in *ingest.Input, name ingest.Unknown) (counted unknownName, ok bool) {
	at := slices.IndexFunc(u.names, func(n unknownName) bool { return n.Kind == name.Kind && n.Name == name.Name })
	if at < 0 && len(u.names) == maxUnknown {
		u.more = true
		return unknownName{}, false
	}
	if at < 0 {
		at = len(u.names)
		u.names = append(u.names, unknownName{Unknown: name, file: in.Name, line: in.Line()})
	}
	u.names[at].count++
	return u.names[at], true
}

// report passes on a text for each name.
func (u *unknownNames) report(hint func(string)) {
	if hint == nil {
		return
	}
	for _, n := range u.names {
		hint(fmt.Sprintf("%s (%s)", n, times(n.count)))
	}
	if u.more {
		hint(fmt.Sprintf("more than %d unknown names; further names are not reported", maxUnknown))
	}
}

// String says where the name was first, and what it is.
func (n unknownName) String() string {
	if n.line == 0 {
		return n.file + ": " + n.Unknown.String()
	}
	return fmt.Sprintf("%s:%d: %s", n.file, n.line, n.Unknown)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
