// Package settings reads settings from YAML documents and single values into structs. An error has the place, the field, its
// value and the allowed values. Profiles and the server configuration use it.
package settings
