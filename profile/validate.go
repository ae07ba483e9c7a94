package profile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// validation collects the errors of settings.
type validation struct{ mistakes []error }

func (v *validation) integer(field string, value, least, most int) {
	if value < least || value > most {
		v.mistakes = append(v.mistakes, fmt.Errorf("%s is %d; it must be from %d to %d", field, value, least, most))
	}
}

func (v *validation) number(field string, value, least, most float64) {
	if !(value >= least && value <= most) { // also catches NaN
		v.mistakes = append(v.mistakes, fmt.Errorf("%s is %g; it must be from %g to %g", field, value, least, most))
	}
}

func (v *validation) oneOf(field, value string, these ...string) {
	if !slices.Contains(these, value) {
		v.mistakes = append(v.mistakes, fmt.Errorf("%s is %q; it must be one of %s", field, value, strings.Join(these, ", ")))
	}
}

func (v *validation) err() error { return errors.Join(v.mistakes...) }
