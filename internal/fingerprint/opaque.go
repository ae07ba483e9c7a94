package fingerprint

import "bytes"

// maxObject is the greatest length of the name of an object, in bytes.
const maxObject = 200

// opaque reports whether a text, plain or as raw JSON, is the name of an object in angle brackets, as Python and JavaScript print objects
// that have no text of their own. A tag without attributes is no such name.
func opaque(text []byte) bool {
	if len(text) > maxObject || len(text) < 2 || text[0] != '<' && text[1] != '<' && text[1] != '\\' {
		return false
	}
	text = bytes.TrimSuffix(bytes.Trim(text, `"`), []byte(`\n`))
	for _, ends := range [...][2]string{{"<", ">"}, {`\u003c`, `\u003e`}} {
		if name, ok := bytes.CutPrefix(text, []byte(ends[0])); ok {
			space := bytes.IndexByte(name, ' ')
			return space > 0 && bytes.Index(name, []byte(ends[1])) == len(name)-len(ends[1]) && !bytes.Contains(name, []byte(ends[0]))
		}
	}
	return false
}
