// Package arch tests the structure of the source: imports, sizes of files and functions, purity of the core, names of packages,
// and documentation. Nothing imports it. A check takes the parsed source and returns a sentence for each violation, beginning
// with its place. It reads the files in the process of the test, so that Go's test cache knows which files a result depends on.
package arch
