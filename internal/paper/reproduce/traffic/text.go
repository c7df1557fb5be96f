package traffic

import (
	"embed"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

//go:embed text
var textFiles embed.FS

// texts are what the experiment says.
var texts = study.NewTexts(textFiles, "text/*.tmpl")
