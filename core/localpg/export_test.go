package localpg

var LargeTempDir = largeTempDir
