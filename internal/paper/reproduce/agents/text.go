package agents

import (
	"embed"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

//go:embed text/*.tmpl
var textFiles embed.FS

// texts are what the experiments say.
var texts = study.NewTexts(textFiles, "text/*.tmpl")
