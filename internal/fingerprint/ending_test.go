package fingerprint

import (
	"strings"
	"testing"
)

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
		`"Could not resolve host"`:    Refused,
		`"it could be full"`:          NoEnding,
		`"Unfortunately the page gives a title only"`: Nothing,
		`"The file was updated."`:                     Done,
		`"cluster/batch patched"`:                     Done,
		`"node/worker-3 drained"`:                     Done,
		`"three rooms are free"`:                      NoEnding,
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

func TestAnEnvelopeThatSaysThatTheCallWorkedIsNoResult(t *testing.T) {
	for text, want := range map[string]Ending{
		`{"ok":true}`:                           Done,
		`{"status":"success","updated_rows":1}`: Done,
		`{"status":"sent","to":"a@old.example","template":"booking confirmation","copies":["b@old.example","c@old.example"]}`:     Done,
		`{"deleted":true,"url":"shop.example/cart","title":"Cart","elements":["button Back","button Pay","link Help","link Up"]}`: Done,
		`{"ok":true,"errors":[],"id":7}`:                                                                                         Done,
		`{"success":true,"message":"Nothing to update"}`:                                                                         Nothing,
		`{"success":true,"data":[],"message":"The page lists hotels, but no prices are given."}`:                                 Nothing,
		`{"status":"success","content":"The document does not mention a deposit."}`:                                              Nothing,
		`{"ok":true,"message":"element not found"}`:                                                                              Nothing,
		`{"ok":true,"url":"shop.example/cart","title":"Cart","elements":["button Back","button Pay","link Help","link Terms"]}`:  NoEnding,
		`{"ok":true,"message":"Saved.","elements":["button Back","button Pay","link Help","link Terms","link About","link Up"]}`: Done,
	} {
		t.Run(text, func(t *testing.T) {
			var w Words
			w.Add([]byte(text))
			if w.Ending != want {
				t.Errorf("the ending of %s is %d, want %d", text, w.Ending, want)
			}
		})
	}
}

func TestWhatACallAsksForIsNoFailure(t *testing.T) {
	for name, c := range map[string]struct {
		tool, text string
		want       Ending
	}{
		"an account is locked by lock_account":        {"lock account", `{"account":"A-1","locked":true}`, NoEnding},
		"a request is denied by deny_request":         {"deny request", `"The request was denied."`, NoEnding},
		"a domain is blocked by block_domain":         {"block domain", `{"status":"blocked"}`, NoEnding},
		"errors are listed by list_errors":            {"list errors", `"errors of today: a printer is offline"`, NoEnding},
		"missing values are found":                    {"find missing values", `"missing in column age: 14"`, NoEnding},
		"an account is locked for another reason":     {"update account", `{"account":"A-1","locked":true}`, Refused},
		"an account cannot be locked by lock_account": {"lock account", `"The account is locked by another user, so the call failed."`, Refused},
	} {
		t.Run(name, func(t *testing.T) {
			var w Words
			w.Reset()
			w.Requested = Requested(strings.FieldsSeq(c.tool))
			w.Add([]byte(c.text))
			if w.Ending != c.want {
				t.Errorf("the ending of %s is %d, want %d", c.text, w.Ending, c.want)
			}
		})
	}
}

func TestANumberOfAttemptsIsNoContent(t *testing.T) {
	for text, want := range map[string]int{
		`{"attempt":3,"rows":7}`:   1,
		"Retry 2 of the upload":    0,
		`{"revision":8,"state":1}`: 1,
		"3 attempts":               1,
		"8 rows":                   1,
	} {
		if got := wordsOf(text).Count; got != want {
			t.Errorf("%s: %d numbers, want %d", text, got, want)
		}
	}
}
