package fingerprint

// Commands calls take for each command of a shell's command line that has words, with the first 24 of them, without quotes
// around them and without wrappers such as sudo and env. It reports whether an output of the line goes into a file. The words
// are valid within the call. It takes time proportional to len(line).
func Commands(line []byte, take func(words [][]byte)) (writes bool) {
	c := commandLine{rest: line}
	for c.next() {
		words := c.words[:c.n]
		for n := wrapper(words); n > 0 && n < len(words); n = wrapper(words) {
			words = words[n:]
		}
		take(words)
	}
	return c.wrote
}
