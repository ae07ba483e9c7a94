package fingerprint

// Limits of what is read of a text.
const (
	readHead   = 3 << 10 // bytes of its beginning
	readTail   = 1 << 10 // bytes of its end, if the text is longer than both
	maxTag     = 40      // bytes of a tag
	maxNumbers = 8       // numbers
	maxDigits  = 18      // digits of a number
)

// WordKind is the kind of characters in a word.
type WordKind uint8

// The kinds of words.
const (
	Letters  WordKind = iota // letters only
	Number                   // digits, and a fraction
	Mixed                    // letters and digits, as ids are, a number after the word id or pid, or serialDigits after a prefix
	Volatile                 // a time, a duration, an address: see Masker; or a number after a word such as duration
)

// Word is a word of a text.
type Word struct {
	Hash  uint32   // of the word in lower case; 0 if it is Volatile
	Kind  WordKind // the kind of its characters
	First bool     // it begins a line, a sentence or a JSON member
}

// tailNumbers is the number of numbers that a Tail keeps.
const tailNumbers = 4

// Tail is the last line, sentence or JSON member with numbers, which is usually a summary.
type Tail struct {
	Shape   Hash                 // of its words; all words that are not Letters are equal; 0 if there is no Tail
	Numbers [tailNumbers]float64 // its last numbers
	Count   int                  // number of Numbers
}

// Words splits texts into words and classifies them. Punctuation and tags such as <output> separate words. The parts of a name with
// underscores are separate words. Words reuses its buffers. It is not safe for concurrent use.
type Words struct {
	List      []Word
	Numbers   [maxNumbers]float64 // the first numbers
	Count     int                 // number of Numbers
	Left      float64             // the first duration, in the unit in which it is written; 0 for none
	Tail      Tail
	Shape     Hash                     // of the words; all words that are not Letters are equal
	Ending    Ending                   // the end of the attempt, according to the text
	Says      int                      // number of words, without numbers, ids and the words exit, code and status
	Zero      bool                     // the Ending is Nothing, expressed as a count of 0
	Void      bool                     // the text is an empty value, such as [] or None
	Opaque    bool                     // the text is the name of an object, such as <Figure size 640x480>, and not its content
	Place     float64                  // the first number after a word such as line, which tells how far a text was read; 0 for none
	Passing   bool                     // the text describes a transient failure, such as a timeout
	Varies    bool                     // a Masker may mask a part of the text, or the text was not read completely
	Requested [2]uint32                // fingerprints of words that tell of no failure, because the call asks for what they say
	before    uint16                   // what the previous word says: bits such as fails
	latest    [2 * tailNumbers]float64 // a ring of the latest numbers; the next one goes to latest[seen%len(latest)]
	after     int                      // numbers after the Tail
	seen      int                      // numbers read
	worked    bool                     // an envelope says that the call worked
	appended  bool                     // what is read is an argument
	decoded   bool                     // what is read has no escapes of the kind \u00e9
	text      []byte
}

// Reset removes everything that was read.
func (w *Words) Reset() {
	*w = Words{List: w.List[:0], text: w.text[:0]}
}

// distinctive is the least number that two texts hardly have in common by chance.
const distinctive = 10_000

// Distinctive reports whether the first number of the text is so large that two texts hardly have it in common by chance.
func (w *Words) Distinctive() bool { return w.Count > 0 && w.Numbers[0] >= distinctive }

// Add reads a text, plain or as raw JSON, and appends its words to those since the last Reset. Of a text over 4 KiB, it reads the first
// 3 KiB and the last 1 KiB. It takes about 1 ns a byte and allocates nothing once its buffers have grown.
func (w *Words) Add(text []byte) {
	if len(text) == 0 {
		return
	}
	head, tail := headAndTail(text)
	w.add(head)
	if len(tail) > 0 {
		w.Varies = true
		w.add(tail)
	}
}

// add reads and classifies a text.
func (w *Words) add(b []byte) {
	from := len(w.List)
	w.read(b)
	w.classify(from)
	if from == 0 && (w.void(b) || len(b) <= maxHollow && hollow(b)) {
		w.Void, w.Ending = true, Nothing
	}
	w.Opaque = w.Opaque || from == 0 && opaque(b)
}

// Append is Add without the classification: it does not set Tail, Shape, Ending, Zero, Void and Passing. The text is an argument, so the name in
// a tag is a word: an edit may be about it, as in #include <vector>, or List<String>.
func (w *Words) Append(text []byte) {
	w.appended = true
	head, tail := headAndTail(text)
	w.read(head)
	if len(tail) > 0 {
		w.read(tail)
	}
	w.appended = false
}

// AddText is Add for a string.
func (w *Words) AddText(text string) {
	head, tail := headAndTail(text)
	w.text = append(w.text[:0], head...)
	w.add(w.text)
	if len(tail) > 0 {
		w.text = append(w.text[:0], tail...)
		w.add(w.text)
	}
}

// headAndTail returns the parts of a text that are read. The tail is empty if the head is all of it.
func headAndTail[T string | []byte](text T) (head, tail T) {
	if len(text) <= readHead+readTail {
		return text, text[len(text):]
	}
	return text[:readHead], text[len(text)-readTail:]
}
