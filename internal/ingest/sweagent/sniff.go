package sweagent

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// sniff matches an object whose "trajectory" is a list that begins with an object with an action and an observation. It skips
// earlier members, except "attempts", which contains trajectories, too.
func sniff(head []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(head),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if !open(dec, '{') {
		return false
	}
	for {
		key, err := dec.ReadToken()
		if err != nil || key.Kind() != '"' {
			return false
		}
		switch key.String() {
		case "trajectory":
			return open(dec, '[') && open(dec, '{') && isStep(dec)
		case "attempts":
			if !open(dec, '[') || !open(dec, '{') {
				return false
			}
		default:
			if dec.SkipValue() != nil {
				return false
			}
		}
	}
}

func open(dec *jsontext.Decoder, kind jsontext.Kind) bool {
	tok, err := dec.ReadToken()
	return err == nil && tok.Kind() == kind
}

func isStep(dec *jsontext.Decoder) bool {
	action, observation := false, false
	for !action || !observation {
		key, err := dec.ReadToken()
		if err != nil || key.Kind() != '"' {
			return false
		}
		action = action || key.String() == "action"
		observation = observation || key.String() == "observation"
		if (!action || !observation) && dec.SkipValue() != nil {
			return false
		}
	}
	return true
}
