// Package dataset brings public data sets to this machine and reads them: it
// downloads an archive, resumes what was cut off, checks sizes, checksums and
// content, unpacks without trusting names, and puts a folder in place whole or
// not at all.
//
// The program distributes no data. MovieLens may not be redistributed; it
// comes from GroupLens, under the terms that [Set.Notice] sums up.
//
// In a browser (GOOS=js) nothing is downloaded, and what would do it is left out of
// the build.
package dataset
