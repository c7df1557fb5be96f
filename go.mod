module github.com/wdgnn/wdgnn

go 1.26
