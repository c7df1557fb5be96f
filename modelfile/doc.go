// Package modelfile is where this module meets the disk: models, arrays and
// graphs in files. It trains nothing and predicts nothing.
//
// A model is one safetensors file ([Save], [Load]): every tensor named after
// the paper, the architecture and its origin as text in the header. Arrays are
// NumPy's .npy and .npz ([LoadArray], [SaveArray]); graphs are edge lists as
// text, SciPy's sparse .npz and square .npy ([LoadGraph]). The formats are laid
// out byte by byte in doc/modelfile.md.
//
// # What comes in is not trusted
//
// Any bytes give a value or an error, never a panic. Sizes that a file claims
// are compared with the size it has before anything is allocated for them.
// Values that are not finite are refused. Errors name the file and the line,
// tensor or member at fault, and end with what to try.
//
// # What goes out is whole
//
// Files are written next to their final place, flushed to the disk and renamed
// ([WriteFile]): a reader sees the old file or the new one, nothing between.
// The same model gives the same bytes.
//
// The functions of this package may be called concurrently. Values that they
// return belong to the caller.
package modelfile
