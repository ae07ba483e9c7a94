package fingerprint

// MaxClassified is the maximum number of bytes that are read to classify a content: the text of an error, or a shell's command
// line. Of a longer content, the first and the last half of that number are read. The functions that decide equality (Bytes,
// Canonical, Masked) read the whole content, so contents that differ anywhere stay different.
const MaxClassified = 64 << 10

// ends returns the parts of content that are read to classify it: the whole, or its beginning and its end.
func ends(content []byte) (head, tail []byte) {
	if len(content) <= MaxClassified {
		return content, nil
	}
	return content[:MaxClassified/2], content[len(content)-MaxClassified/2:]
}
