//! Which extension is of which category, unless a playbook brings its own list.

use std::collections::BTreeMap;

const USUAL: [(&str, &str); 9] = [
    ("Archives", "7z bz2 gz rar tar tgz txz xz zip zst"),
    ("Audio", "aac aif aiff flac m4a mid mp3 ogg opus wav wma"),
    (
        "Code",
        "bat c cc cpp cs css go h hpp html ipynb java js jsx kt lua php pl ps1 py rb rs scss sh sql swift toml ts tsx",
    ),
    ("Data", "csv db jsonl json log ndjson parquet sqlite tsv xml yaml yml"),
    ("Documents", "doc docx epub key md odp ods odt pages pdf ppt pptx rtf tex txt xls xlsx"),
    ("Fonts", "otf ttf woff woff2"),
    ("Images", "avif bmp gif heic ico jpeg jpg png psd raw svg tif tiff webp"),
    ("Installers", "apk appimage deb dmg exe iso msi pkg rpm"),
    ("Video", "avi m4v mkv mov mp4 mpeg mpg webm wmv"),
];

/// The usual list: category to extensions in small letters.
pub fn usual() -> BTreeMap<String, Vec<String>> {
    let list = |extensions: &str| extensions.split(' ').map(str::to_owned).collect();
    USUAL.iter().map(|(name, extensions)| ((*name).to_owned(), list(extensions))).collect()
}
