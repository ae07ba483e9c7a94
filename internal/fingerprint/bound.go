package fingerprint

// MaxClassified is how much of a content is read to say what kind it is, in bytes: of an error's text and of a shell's
// command line. Of a longer one its first and its last half of that many are read. What says whether two contents are the
// same (Bytes, Canonical, Masked) reads all of them, so contents that differ anywhere stay different.
const MaxClassified = 64 << 10

// ends returns the parts of content that are classified: all of it, or its beginning and its end.
func ends(content []byte) (head, tail []byte) {
	if len(content) <= MaxClassified {
		return content, nil
	}
	return content[:MaxClassified/2], content[len(content)-MaxClassified/2:]
}
