// Package arch holds the shape of the source to the house rules: who may import whom, how long files and functions may
// be, what the pure middle must not touch, how packages are named, what is documented. It stands outside the arrow
// from bytes to decisions; nothing imports it. A check takes the parsed source and returns a sentence for each place
// that breaks its rule, beginning with the place. It reads the files within the test's own process, so that Go's test
// cache knows what a result depends on.
package arch
