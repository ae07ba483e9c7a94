package fingerprint

import "testing"

func TestEnding(t *testing.T) {
	for text, want := range map[string]Ending{
		`"No iron nearby, please explore first"`:  Nothing,
		`{"chat":"no free table at 19:00"}`:       Nothing,
		`{"insurance":"no","status":"available"}`: NoEnding,
		`"no errors"`:                 NoEnding,
		`"the price is no longer 12"`: NoEnding,
		`[]`:                          Nothing,
		`"None"`:                      Nothing,
		`"0"`:                         NoEnding,
		`"cannot open the file"`:      Refused,
		`"The file was updated."`:     Done,
		`"three rooms are free"`:      NoEnding,
	} {
		t.Run(text, func(t *testing.T) {
			var w Words
			w.Reset()
			w.Add([]byte(text))
			if w.Ending != want {
				t.Errorf("the ending of %s is %d, want %d", text, w.Ending, want)
			}
		})
	}
}
