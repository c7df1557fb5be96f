package livepage

import (
	"embed"
	"io/fs"
)

//go:embed page
var folder embed.FS

// Files returns what the page consists of: index.html first of all, and beside
// it the scripts, styles and licences that belong to it.
func Files() fs.FS {
	files, err := fs.Sub(folder, "page")
	if err != nil {
		panic(err) // the name is a valid path
	}
	return files
}
