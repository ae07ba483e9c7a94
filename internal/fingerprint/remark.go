package fingerprint

import "bytes"

// The ends of the sentence before what a person says: that of Claude Code, and that of OpenCode, Cline and Roo Code. Its beginning is the
// same.
var (
	refusal     = []byte("The user ")
	remarksFrom = [...][]byte{[]byte("the user said:"), []byte("the following feedback:")}
)

// Remark returns what a person says in the result of a call that they refused: the end of a raw JSON string, after the sentence that the
// agent's program writes before it. It reads the output, then the error. It returns nil if the person says nothing.
func Remark(output, failure []byte) []byte {
	for _, raw := range [...][]byte{output, failure} {
		raw = bytes.TrimSpace(raw)
		if len(raw) < 2 || raw[0] != '"' || !bytes.HasPrefix(raw[1:], refusal) {
			continue
		}
		for _, from := range remarksFrom {
			if _, remark, ok := bytes.Cut(raw[:len(raw)-1], from); ok && len(remark) > 0 {
				return remark
			}
		}
	}
	return nil
}
