// Package settings reads settings into structs, from YAML documents and from single values, and says what is wrong with them:
// where, which field, its value and what is allowed. Profiles and the configuration of a server use it.
package settings
