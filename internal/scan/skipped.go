package scan

import (
	"errors"
	"fmt"
	"strings"
)

// skippedFiles counts the files of folders that are not traces, by the reason.
type skippedFiles struct {
	total   int
	reasons []skipReason // in the order of their first files
}

// skipReason is why files are skipped, and how many.
type skipReason struct {
	why   string
	first string // name of a file
	files int
}

// add counts a file.
func (s *skippedFiles) add(name, why string) {
	s.total++
	for k := range s.reasons {
		if s.reasons[k].why == why {
			s.reasons[k].files++
			return
		}
	}
	s.reasons = append(s.reasons, skipReason{why: why, first: name, files: 1})
}

// report passes on one line about all files, if there are any.
func (s *skippedFiles) report(hint func(string)) {
	if hint == nil || s.total == 0 {
		return
	}
	if s.total > 1 && len(s.reasons) == 1 {
		hint(fmt.Sprintf("%d files are skipped, such as %s: %s", s.total, s.reasons[0].first, s.reasons[0].why))
		return
	}
	parts := make([]string, 0, len(s.reasons))
	for _, r := range s.reasons {
		count := ""
		if r.files > 1 {
			count = fmt.Sprintf("%d such as ", r.files)
		}
		parts = append(parts, count+r.first+": "+r.why)
	}
	noun := "files are"
	if s.total == 1 {
		noun = "file is"
	}
	hint(fmt.Sprintf("%d %s skipped: %s", s.total, noun, strings.Join(parts, "; ")))
}

// errUnknownFormat is the reason why a file is not a trace of which nothing else is known.
var errUnknownFormat = errors.New("unknown trace format")

// skip counts a file of a folder that is not a trace. The user has not named it, so it is no fault. For a file that the user has named, it
// returns the reason as an error.
func (s *Scanner) skip(f file, name string, why error) error {
	switch {
	case !f.named:
		s.skipped.add(f.path, why.Error())
		return nil
	case errors.Is(why, errUnknownFormat):
		return fmt.Errorf("%s: %w; --input names one of %s", name, why, formatNames())
	}
	return fmt.Errorf("%s: %w", name, why)
}
