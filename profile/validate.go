package profile

import "github.com/unloop-ai/unloop/internal/settings"

// validation collects the errors of settings.
type validation struct{ settings.Errors }

func (v *validation) integer(field string, value, least, most int) {
	settings.Range(&v.Errors, field, value, least, most)
}

func (v *validation) number(field string, value, least, most float64) {
	settings.Range(&v.Errors, field, value, least, most)
}
