package settings

import (
	"errors"
	"fmt"
	"strings"
)

// Error is one error in settings.
type Error struct {
	Place          // where the value was given; the zero Place if unknown
	Field   string // such as limits.body or tokens[0].scope; "" for the whole document
	Value   string // as given; "" if there is none or it may be secret
	Allowed string // what is allowed, such as "from 1 to 8"; "" if Reason says more
	Reason  string // a sentence that names the field
}

func (e *Error) Error() string {
	if e.Place == (Place{}) {
		return e.Reason
	}
	return e.Place.String() + ": " + e.Reason
}

// Place is where a value was given.
type Place struct {
	File string // a file, an environment variable or a flag: unloop.yaml, UNLOOP_ADDR, --addr
	Line int    // from 1; 0 where File has no lines
}

func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Errors collects errors. The zero Errors is ready to use.
type Errors []error

// Add adds an error whose reason names the field.
func (e *Errors) Add(at Place, field, format string, a ...any) {
	*e = append(*e, &Error{Place: at, Field: field, Reason: fmt.Sprintf(format, a...)})
}

// Invalid adds an error about a value. nil hides the value.
func (e *Errors) Invalid(at Place, field string, value any, allowed string) {
	wrong := &Error{Place: at, Field: field, Allowed: allowed, Reason: field + " must be " + allowed}
	if value != nil {
		wrong.Value = fmt.Sprint(value)
		shown := wrong.Value
		if text, ok := value.(string); ok {
			shown = fmt.Sprintf("%q", text)
		}
		wrong.Reason = fmt.Sprintf("%s is %s; it must be %s", field, shown, allowed)
	}
	*e = append(*e, wrong)
}

// Range adds an error unless the value is from least to most. NaN is an error.
func Range[N ~int | ~int64 | ~float64](e *Errors, field string, value, least, most N) {
	if !(value >= least && value <= most) {
		e.Invalid(Place{}, field, value, fmt.Sprintf("from %v to %v", least, most))
	}
}

// OneOf adds an error unless the value is one of these.
func (e *Errors) OneOf(field, value string, these ...string) {
	for _, one := range these {
		if value == one {
			return
		}
	}
	e.Invalid(Place{}, field, value, "one of "+strings.Join(these, ", "))
}

// Err returns an error that joins all errors, or nil.
func (e Errors) Err() error { return errors.Join(e...) }

// Locate sets the places of the fields of the errors in err. A default value has no place.
func Locate(err error, places map[string]Place) error {
	return each(err, func(e *Error) {
		if e.Place == (Place{}) {
			e.Place = placeOf(e.Field, places)
		}
	})
}

// Under prefixes the fields of the errors in err with a field, such as tools.a, and their reasons with prefix.
func Under(err error, field, prefix string) error {
	return each(err, func(e *Error) {
		e.Field, e.Reason = Join(field, e.Field), prefix+": "+e.Reason
	})
}

// Without returns the errors in err whose texts are not those of errors in known.
func Without(err, known error) error {
	texts := make(map[string]bool)
	for _, one := range Unjoin(known) {
		texts[one.Error()] = true
	}
	var all Errors
	for _, one := range Unjoin(err) {
		if !texts[one.Error()] {
			all = append(all, one)
		}
	}
	return all.Err()
}

// each changes a copy of each Error in err.
func each(err error, change func(*Error)) error {
	var all Errors
	for _, one := range Unjoin(err) {
		var e *Error
		if errors.As(one, &e) {
			changed := *e
			change(&changed)
			one = &changed
		}
		all = append(all, one)
	}
	return all.Err()
}

// placeOf returns the place of a field, or else of the value that contains it.
func placeOf(field string, places map[string]Place) Place {
	for field != "" {
		if place, ok := places[field]; ok {
			return place
		}
		field = field[:max(0, strings.LastIndexAny(field, ".["))]
	}
	return Place{}
}

// Unjoin returns the joined errors one by one.
func Unjoin(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Unjoin(e)...)
	}
	return all
}
