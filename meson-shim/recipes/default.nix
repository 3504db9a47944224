# nix-build -E 'with import <nixpkgs> { }; callPackage ./default.nix { }'
{ lib, stdenv, fetchurl, meson, ninja, pkg-config, gst_all_1, swift, swiftpm }:

assert lib.assertMsg (lib.versionAtLeast swift.version "6.2") "gst-depthmatte needs Swift 6.2 or newer";

stdenv.mkDerivation (package: {
  pname = "gst-depthmatte";
  version = "0.1.0";
  src = fetchurl {
    url = "${package.meta.homepage}/releases/download/v${package.version}/gst-depthmatte-${package.version}.tar.xz";
    # The build names the right one, once the release is there.
    hash = lib.fakeHash;
  };

  nativeBuildInputs = [ meson ninja pkg-config swift swiftpm ];
  buildInputs = [ gst_all_1.gstreamer gst_all_1.gst-plugins-base ];
  nativeCheckInputs = [ gst_all_1.gst-plugins-good ];
  # Meson runs Swift's package manager.
  dontUseSwiftpmBuild = true;
  dontUseSwiftpmCheck = true;
  doCheck = true;

  meta = {
    description = "Virtual background for depth cameras (GStreamer plugin)";
    homepage = "https://github.com/gst-depthmatte/gst-depthmatte";
    # The library contains the Swift runtime, linked statically.
    license = with lib.licenses; [ lgpl21Plus asl20 ];
    platforms = [ "x86_64-linux" "aarch64-linux" ];
  };
})
